// Makes what browsers cannot take as npm has it: one script of each file of src/, in the folder that is named.
//   node tests/pages/build.mjs FOLDER_OF_NODE_MODULES OUTPUT
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [modules, output] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'package.json'));
const esbuild = require('esbuild');
const svelte = await import(pathToFileURL(path.join(modules, 'node_modules/svelte/src/compiler/index.js')));
const sources = path.join(import.meta.dirname ?? path.dirname(process.argv[1]), 'src');
await esbuild.build({
  entryPoints: fs.readdirSync(sources).filter((name) => name.endsWith('.js')).map((name) => path.join(sources, name)),
  outdir: output,
  bundle: true,
  minify: true,
  format: 'iife',
  conditions: ['browser'],
  define: {'process.env.NODE_ENV': '"production"'},
  nodePaths: [path.join(modules, 'node_modules')],
  logLevel: 'error',
  plugins: [{
    name: 'svelte',
    setup: (build) => build.onLoad({filter: /\.svelte$/}, async ({path: file}) => (
      {contents: svelte.compile(await fs.promises.readFile(file, 'utf8'), {filename: file}).js.code})),
  }],
});
