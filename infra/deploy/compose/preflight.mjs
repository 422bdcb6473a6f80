// Runs before everything else in docker-compose.yml: the secrets that a laptop gets by default must not protect anything that
// others can reach. Every one of them is in a public repository.
const masterKeys = ['MASTER_KEY', 'MASTER_KEY_PREVIOUS'];
const secrets = [
  ...['SERVICE_TOKEN', 'SERVICE_TOKENS_ACCEPTED', ...masterKeys],
  ...['BINDERY_BOOTSTRAP_TOKEN', 'S3_SECRET_ACCESS_KEY', 'GRAFANA_PASSWORD'],
];
const local = ['localhost', '127.0.0.1', '[::1]'];

const isDefault = (name, value) =>
  masterKeys.includes(name) ? /^0{50,}dead$/.test(value) : value.includes('for-a-laptop-only');

const url = process.env.PUBLIC_URL ?? '';
if (!URL.canParse(url)) {
  console.error('PUBLIC_URL is not an address');
  process.exit(1);
}
const known = secrets.filter((name) => isDefault(name, process.env[name] ?? ''));
if (!local.includes(new URL(url).hostname) && known.length > 0) {
  console.error(
    `${url} can be reached by others, but these still have the values of the repository: ${known.join(', ')}`,
  );
  console.error('Copy .env.example to .env and fill it in.');
  process.exit(1);
}
console.log(known.length > 0 ? 'Secrets of the repository: for this machine alone.' : 'Secrets of your own.');
