// Mails the singers of an association of choirs when they rehearse next.
const fs = require('fs');
const net = require('net');
const { once } = require('events');
const readline = require('readline');
const { setTimeout: sleep } = require('timers/promises');

const clock = () => performance.now() / 1000;

// A dialogue with the mail exchanger.
class Dialogue {
  static async open() {
    const dialogue = new Dialogue();
    dialogue.socket = net.connect({ port: @{port}, host: '127.0.0.1', noDelay: true });
    dialogue.answers = readline.createInterface({ input: dialogue.socket })[Symbol.asyncIterator]();
    await dialogue.expect('220');
    await dialogue.say('EHLO choirs.singers.test');
    return dialogue;
  }

  async expect(code) {
    for (;;) {
      const { value, done } = await this.answers.next();
      if (done || !value.startsWith(code)) throw new Error(`the exchanger says ${value}`);
      if (value[3] !== '-') return;
    }
  }

  async say(text, code = '250') {
    this.socket.write(`${text}\r\n`);
    await this.expect(code);
  }

  async deliver(to, text) {
    await this.say('MAIL FROM:<rehearsals@singers.test>');
    await this.say(`RCPT TO:<${to}>`);
    await this.say('DATA', '354');
    await this.say(`${text}\r\n.`);
  }

  async quit() {
    await this.say('QUIT', '221');
    this.socket.end();
    if (!this.socket.closed) await once(this.socket, 'close');
  }
}

class Choir {
  constructor(number) {
    Object.assign(this, { number, units: 0, busy: 0, calling: 0, dialogue: null, letters: 0 });
  }

  letter(singer) {
    const days = ['Monday', 'Tuesday', 'Thursday'];
    const dates = Array.from({ length: @{dates} }, (_, i) => `  ${i + 1}. week: ${days[(singer + i) % 3]}, ${18 + ((singer * i) % 3)} o'clock`);
    return `Subject: Rehearsals of choir ${this.number}\r\nTo: singer${singer}@singers.test\r\n\r\nDear singer,\r\n${dates.join('\r\n')}`;
  }

  async @{fnCamel}(singer, text) {
    let start = clock();
    this.dialogue ??= await Dialogue.open();
    this.calling += clock() - start;
    await this.dialogue.deliver(`singer${singer}@singers.test`, text);
    this.letters += 1;
    if (this.letters < @{together}) return;
    start = clock();
    await this.dialogue.quit();
    this.dialogue = null;
    this.letters = 0;
    this.calling += clock() - start;
  }

  async work() {
    const begin = clock();
    let due = begin;
    while (clock() - begin < @{seconds}) {
      const start = clock();
      await this.@{fnCamel}(this.units, this.letter(this.units));
      this.busy += clock() - start;
      this.units += 1;
      due = Math.max(due + @{choirs} / @{rate}, clock());
      await sleep((due - clock()) * 1000);
    }
    await this.dialogue?.quit();
  }
}

async function main() {
  const choirs = Array.from({ length: @{choirs} }, (_, number) => new Choir(number + 1));
  await Promise.all(choirs.map((choir) => choir.work()));
  const sum = (field) => choirs.reduce((total, choir) => total + choir[field], 0);
  fs.writeFileSync('@{report}', JSON.stringify({ units: sum('units'), seconds: sum('busy'), culprit: sum('calling') }));
}

main();
