// Reads a profile with the importer of npm's speedscope, whose bundle is for browsers: speedscope.js FOLDER FILE. Prints the weight of
// each frame by itself.
const fs = require('fs'), path = require('path'), vm = require('vm');
const [dir, file] = process.argv.slice(2);
const bundle = fs.readdirSync(dir).find(name => /^speedscope-.*\.js$/.test(name));
let source = fs.readFileSync(path.join(dir, bundle), 'utf8');
const [, load, library] = /Promise\.resolve\(\)\.then\(\(\)=>\((\w+)\(\),(\w+)\)\)/.exec(source);
source = source.replace('(()=>{', `(()=>{globalThis.importProfile=async(...all)=>{${load}();return ${library}.importProfileGroupFromBase64(...all)};`);
const world = { atob, TextDecoder, TextEncoder, performance, console: { ...console, log() {} } };
world.window = world;
try { vm.runInNewContext(source, world) } catch (_) { /* there is no page to draw on */ }
world.importProfile('profile.json', fs.readFileSync(file).toString('base64')).then(group => {
  for (const profile of group.profiles) {
    const own = {};
    profile.forEachFrame(frame => { own[frame.name] = frame.getSelfWeight() });
    console.log(JSON.stringify({ total: profile.getTotalWeight(), unit: profile.getWeightUnit(), own }));
  }
}).catch(error => { console.error(String(error).slice(0, 500)); process.exit(1) });
