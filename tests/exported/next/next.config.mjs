import path from 'node:path';

// What is exported is in out/.
export default {output: 'export', turbopack: {root: path.dirname(import.meta.dirname)}};
