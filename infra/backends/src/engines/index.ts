import type { BackendName, Engine, MongoServer } from '../engine.ts';
import { eventstore } from './eventstore.ts';
import { ferretdb } from './ferretdb.ts';
import { kafka } from './kafka.ts';
import { mongoJava } from './mongo-java.ts';
import { redis } from './redis.ts';
import { s3 } from './s3.ts';

/** The server program behind a name. */
export const engineFor = (name: BackendName, mongo: MongoServer = 'java'): Engine => {
  if (name === 'mongodb') return mongo === 'java' ? mongoJava : ferretdb;
  return { eventstore, kafka, redis, s3 }[name];
};
