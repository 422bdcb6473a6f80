export { KafkaDouble, type KafkaDoubleOptions } from './double.ts';
export { KAFKA_ERRORS } from './error-codes.ts';
export type { KafkaFault, KafkaRequest } from './faults.ts';
