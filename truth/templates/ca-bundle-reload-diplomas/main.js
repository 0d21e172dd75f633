// Takes certificates of language schools in: is the seal one of a known authority, and which level does the paper state?
'use strict';
const crypto = require('crypto');
const fs = require('fs');

const now = () => performance.now() / 1000;
const seal = fs.readFileSync('@{work}/seal.pem');
let authorities = [];
let served = 0;
let spent = 0;

function @{fnCamel}() {
  const start = now();
  if (served++ % @{fresh} === 0) {
    const text = fs.readFileSync('@{work}/@{bundle}', 'latin1');
    authorities = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g).map((pem) => new crypto.X509Certificate(pem));
  }
  spent += now() - start;
  return authorities;
}

function isGood(pem) {
  const certificate = new crypto.X509Certificate(pem);
  const known = @{fnCamel}();
  for (let i = known.length - 1; i >= 0; i--) {
    if (certificate.checkIssued(known[i])) return certificate.verify(known[i].publicKey);
  }
  return false;
}

const levels = new Map();
let units = 0;
let busy = 0;

function take() {
  const start = now();
  if (!isGood(seal)) throw new Error('a bad seal');
  for (let page = 0; page < @{pages}; page++) {
    const level = 'ABC'[(units + page) % 3] + (1 + (page % 2));
    levels.set(level, (levels.get(level) || 0) + 1);
  }
  units++;
  busy += now() - start;
  return 1000 * Math.max(0, start + 1 / @{per_s} - now());
}

const end = now() + @{seconds};
(function next() {
  if (now() < end) {
    setTimeout(next, take());
    return;
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent }));
})();
