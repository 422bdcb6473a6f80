export { Backend, type BackendOptions, knownBackends, openBackend, removeState, startBackend } from './backend.ts';
export { BACKEND_NAMES, type BackendName, MONGO_SERVERS, type MongoServer } from './engine.ts';
export { formatEnv, parseEnv, readEnv, writeEnv } from './env-file.ts';
export {
  type KafkaCluster,
  type KafkaClusterOptions,
  type SecureAccess,
  startKafkaCluster,
} from './kafka-cluster.ts';
export { freePorts, HOST } from './ports.ts';
export { type ProxyFault, startProxy, type TcpProxy } from './proxy.ts';
export { stateFolder } from './state-folder.ts';
export { cacheFolder, MissingTool } from './tools.ts';
