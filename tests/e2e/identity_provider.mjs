// An identity provider: the published library "oidc-provider" with one client that gets access tokens as JWTs.
// Arguments: the folder that holds node_modules, a port, the file of its keys (a JWK set with private keys, the first of
// which signs), the audience, the organisation's name in the claim org.id, and, where it is given, the file of more
// clients, which authenticate with private_key_jwt: {client_id: public JWK}, or nothing, and where people who sign in at the
// client "dashboard" are sent back to: whoever says that he is somebody at the provider's own page is that, and has what he
// says for an address; and where the client "console" sends them back to, whose ID tokens have the claim "groups": what
// stands behind each "+" in front of the "@". SIGHUP reads the keys again. It counts what is fetched: GET /counts.
import {createServer} from 'node:http';
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [tools, port, keyFile, audience, organisation, clientFile, dashboard, console_] = process.argv.slice(2);
const {Provider} = await import(pathToFileURL(`${tools}/node_modules/oidc-provider/lib/index.js`));

function asserting(alg) {
  if (!clientFile) return [];
  return Object.entries(JSON.parse(readFileSync(clientFile))).map(([id, jwk]) => ({
    client_id: id, token_endpoint_auth_method: 'private_key_jwt', jwks: {keys: [jwk]},
    grant_types: ['client_credentials'], redirect_uris: [], response_types: [], id_token_signed_response_alg: alg,
  }));
}

function signingIn(alg) {
  return Object.entries({dashboard, console: console_}).filter(([, redirect]) => redirect).map(([id, redirect]) => ({
    client_id: id, client_secret: `the-secret-of-the-${id}`, token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code'], response_types: ['code'], redirect_uris: [redirect], id_token_signed_response_alg: alg}));
}

const groupsOf = id => id.split('@')[0].split('+').slice(1);

function configured() {
  const keys = JSON.parse(readFileSync(keyFile));
  const alg = keys.keys[0].alg;
  return new Provider(`http://127.0.0.1:${port}`, {
    jwks: keys,
    clients: [{client_id: 'billing', client_secret: 'the-secret-of-the-test', grant_types: ['client_credentials'],
               redirect_uris: [], response_types: [], id_token_signed_response_alg: alg}, ...asserting(alg), ...signingIn(alg)],
    conformIdTokenClaims: false,
    claims: {openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups']},
    pkce: {required: () => true},
    findAccount: (_, id) => ({accountId: id, claims: () => ({sub: id, email: id, email_verified: true, groups: groupsOf(id)})}),
    extraTokenClaims: () => ({org: {id: organisation}}),
    features: {
      devInteractions: {enabled: Boolean(dashboard || console_)},
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
