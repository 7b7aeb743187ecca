// Validates Kubernetes objects, a JSON array on standard input, against the schemas of versions of Kubernetes
// (tests/kubernetes). Prints a line for each object and version: valid, refused and why, or that its kind has no
// model; exit status 1 where one was refused.
//   node kubernetes_models.js NODE_MODULES 1.27 1.33
const path = require('node:path');

const [modules, ...versions] = process.argv.slice(2);

function modelOf({apiVersion, kind}, version) {
  try {
    return require(path.join(modules, `kubernetes-${version}`, apiVersion, kind))[kind];
  } catch {
    return null;
  }
}

// The validators pass over fields that they do not know. Those are the ones they never look at: `watched`
// collects the paths of what is in `value`, and takes each out again when it is read.
function watch(value, at, watched) {
  if (value === null || typeof value !== 'object') return value;
  const inside = {};
  for (const key of Object.keys(value)) {
    inside[key] = watch(value[key], `${at}/${key}`, watched);
    watched.add(`${at}/${key}`);
  }
  return new Proxy(Array.isArray(value) ? Object.values(inside) : inside, {
    get(target, key) {
      if (typeof key === 'string') watched.delete(`${at}/${key}`);
      return Reflect.get(target, key);
    },
  });
}

function refusal(object, version) {
  const Model = modelOf(object, version);
  if (!Model) return `no model of ${object.apiVersion}`;
  const watched = new Set();
  const model = new Model(object);
  model.spec = watch(object.spec, '/spec', watched);
  try {
    model.validate();
  } catch (error) {
    return `refused: ${error.message}`;
  }
  return watched.size === 0 ? 'valid' : `refused: unknown fields ${[...watched].join(', ')}`;
}

let text = '';
process.stdin.on('data', piece => { text += piece; });
process.stdin.on('end', () => {
  for (const version of versions) {
    for (const object of JSON.parse(text)) {
      const verdict = refusal(object, version);
      console.log(`${object.kind} ${object.metadata?.name} (${version}): ${verdict}`);
      if (verdict.startsWith('refused')) process.exitCode = 1;
    }
  }
});
