// An identity provider: the published library "oidc-provider" with one client that gets access tokens as JWTs.
// Arguments: the folder that holds node_modules, a port, the file of its keys (a JWK set with private keys, the first of
// which signs), the audience, the organisation's name in the claim org.id, and, where it is given, the file of more
// clients, which authenticate with private_key_jwt: {client_id: public JWK}. SIGHUP reads the keys again. It counts what
// is fetched: GET /counts.
import {createServer} from 'node:http';
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [tools, port, keyFile, audience, organisation, clientFile] = process.argv.slice(2);
const {Provider} = await import(pathToFileURL(`${tools}/node_modules/oidc-provider/lib/index.js`));

function asserting(alg) {
  if (!clientFile) return [];
  return Object.entries(JSON.parse(readFileSync(clientFile))).map(([id, jwk]) => ({
    client_id: id, token_endpoint_auth_method: 'private_key_jwt', jwks: {keys: [jwk]},
    grant_types: ['client_credentials'], redirect_uris: [], response_types: [], id_token_signed_response_alg: alg,
  }));
}

function configured() {
  const keys = JSON.parse(readFileSync(keyFile));
  const alg = keys.keys[0].alg;
  return new Provider(`http://127.0.0.1:${port}`, {
    jwks: keys,
    clients: [{client_id: 'billing', client_secret: 'the-secret-of-the-test', grant_types: ['client_credentials'],
               redirect_uris: [], response_types: [], id_token_signed_response_alg: alg}, ...asserting(alg)],
    extraTokenClaims: () => ({org: {id: organisation}}),
    features: {
      devInteractions: {enabled: false},
      clientCredentials: {enabled: true},
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({scope: 'full_access', audience, accessTokenTTL: 600,
                                       accessTokenFormat: 'jwt', jwt: {sign: {alg}}}),
      },
    },
  }).callback();
}

const counts = {document: 0, keys: 0};
let handle = configured();
process.on('SIGHUP', () => {
  handle = configured();
  console.log('rotated');
});
createServer((request, response) => {
  if (request.url === '/counts') {
    response.end(JSON.stringify(counts));
    return;
  }
  if (request.url.endsWith('/openid-configuration')) ++counts.document;
  if (request.url === '/jwks') ++counts.keys;
  handle(request, response);
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
