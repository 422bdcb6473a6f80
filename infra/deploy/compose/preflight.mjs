// Runs before everything else in docker-compose.yml: the secrets that a laptop gets by default must not protect anything that
// others can reach. Every one of them is in a public repository.
const marks = ['for-a-laptop-only', 'dead'];
const secrets = ['SERVICE_TOKEN', 'SERVICE_TOKENS_ACCEPTED', 'MASTER_KEY', 'BINDERY_BOOTSTRAP_TOKEN'];
secrets.push('S3_SECRET_ACCESS_KEY', 'GRAFANA_PASSWORD');
const local = ['localhost', '127.0.0.1', '[::1]'];

const isDefault = (name, value) =>
  name === 'MASTER_KEY' ? /^0{50,}dead$/.test(value) : marks.some((mark) => mark.length > 4 && value.includes(mark));

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
