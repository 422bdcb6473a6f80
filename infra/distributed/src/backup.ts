import { cp } from 'node:fs/promises';
import { AwsClient } from 'aws4fetch';
import { type Document, MongoClient } from 'mongodb';

/** Addresses of servers, by the names of the product's settings. */
export type Servers = Readonly<Record<string, string>>;

interface Dumped {
  readonly name: string;
  readonly documents: readonly Document[];
  readonly indexes: readonly { readonly key: Document; readonly [option: string]: unknown }[];
}

/** One MongoDB database, as `mongodump` keeps it. */
export type Dump = readonly Dumped[];

/** Files of a bucket by key, as `aws s3 sync` brings them. */
export type Objects = ReadonlyMap<string, Uint8Array>;

/** What is restored; everything else is made from it. */
export interface Backup {
  /** Folder with the files of the event store. */
  readonly events: string;
  readonly keys: Dump;
  readonly blobs: Objects;
}

const inDatabase = async <T>(
  { MONGODB_URL = '' }: Servers,
  name: string,
  work: (client: MongoClient, name: string) => Promise<T>,
) => {
  const client = await MongoClient.connect(MONGODB_URL, { serverSelectionTimeoutMS: 5000 });
  try {
    return await work(client, name);
  } finally {
    await client.close();
  }
};

/** What `mongodump --db NAME` does. */
export const dumpDatabase = (servers: Servers, name: string): Promise<Dump> =>
  inDatabase(servers, name, async (client) => {
    const database = client.db(name);
    const found = await database.listCollections({}, { nameOnly: true }).toArray();
    return Promise.all(
      found
        .filter((one) => !one.name.startsWith('system.'))
        .map(async (one) => {
          const collection = database.collection(one.name);
          const indexes = (await collection.indexes()).filter((index) => index.name !== '_id_');
          return { name: one.name, documents: await collection.find().toArray(), indexes: indexes.map(withoutPlace) };
        }),
    );
  });

const withoutPlace = ({ ns: _, v: __, ...index }: Document): Dumped['indexes'][number] => ({ key: {}, ...index });

/** What `mongorestore` does. */
export const restoreDatabase = (servers: Servers, name: string, dump: Dump): Promise<void> =>
  inDatabase(servers, name, async (client) => {
    for (const { name: collectionName, documents, indexes } of dump) {
      const collection = client.db(name).collection(collectionName);
      if (documents.length > 0) await collection.insertMany([...documents]);
      for (const { key, ...options } of indexes) await collection.createIndex(Object(key), options);
    }
  });

const bucketOf = ({
  S3_ENDPOINT,
  S3_BUCKET,
  S3_REGION = '',
  S3_ACCESS_KEY_ID = '',
  S3_SECRET_ACCESS_KEY = '',
}: Servers) => ({
  base: `${S3_ENDPOINT}/${S3_BUCKET}`,
  client: new AwsClient({
    ...{ accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY, region: S3_REGION, service: 's3' },
    retries: 0,
  }),
});

const answered = async (response: Promise<Response>): Promise<Response> => {
  const answer = await response;
  if (!answer.ok) throw new Error(`the bucket answered ${answer.status}: ${await answer.text()}`);
  return answer;
};

/** What `aws s3 sync s3://BUCKET FOLDER` does; for as many files as a list has in one page (1000). */
export const readBucket = async (servers: Servers): Promise<Objects> => {
  const { base, client } = bucketOf(servers);
  const listed = await (await answered(client.fetch(`${base}?list-type=2`))).text();
  if (listed.includes('<IsTruncated>true')) throw new Error('more files than this reads');
  const objects = new Map<string, Uint8Array>();
  for (const [, key = ''] of listed.matchAll(/<Key>([^<]+)<\/Key>/g)) {
    const response = await client.fetch(`${base}/${key}`);
    // Deleted since it was listed: nothing that is to be kept.
    if (response.status === 404) continue;
    objects.set(key, new Uint8Array(await (await answered(Promise.resolve(response))).arrayBuffer()));
  }
  return objects;
};

/** What `aws s3 sync FOLDER s3://BUCKET` does. */
export const fillBucket = async (servers: Servers, objects: Objects): Promise<void> => {
  const { base, client } = bucketOf(servers);
  for (const [key, bytes] of objects)
    await answered(client.fetch(`${base}/${key}`, { method: 'PUT', body: new Uint8Array(bytes) }));
};

/**
 * A backup while writes go on, in the order that makes it whole: keys and bytes are written before the events that need
 * them, so that they are copied after those.
 * @param log folder of the event store's files
 * @param into folder for the copy
 */
export const takeBackup = async (
  servers: Servers,
  options: { readonly log: string; readonly into: string; readonly keys: string },
): Promise<Backup> => {
  await cp(options.log, options.into, { recursive: true });
  const keys = await dumpDatabase(servers, options.keys);
  return { events: options.into, keys, blobs: await readBucket(servers) };
};
