/** Reads the primitive types of the protocol, in order. @throws RangeError past the end */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int8(): number {
    this.#at += 1;
    return this.#bytes.readInt8(this.#at - 1);
  }

  boolean(): boolean {
    return this.int8() !== 0;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  int64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }

  nullableString(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.#take(length).toString('utf8');
  }

  string(): string {
    return this.nullableString() ?? '';
  }

  bytes(): Buffer {
    const length = this.int32();
    return length < 0 ? Buffer.alloc(0) : this.#take(length);
  }

  nullableArray<T>(item: () => T): T[] | null {
    const length = this.int32();
    return length < 0 ? null : Array.from({ length }, item);
  }

  array<T>(item: () => T): T[] {
    return this.nullableArray(item) ?? [];
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('a request ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** Writes the primitive types of the protocol, in order. */
export class WireWriter {
  readonly #parts: Buffer[] = [];

  int8(value: number): this {
    const part = Buffer.alloc(1);
    part.writeInt8(value);
    return this.raw(part);
  }

  boolean(value: boolean): this {
    return this.int8(value ? 1 : 0);
  }

  int16(value: number): this {
    const part = Buffer.alloc(2);
    part.writeInt16BE(value);
    return this.raw(part);
  }

  int32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.raw(part);
  }

  int64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.raw(part);
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1);
    const part = Buffer.from(value);
    return this.int16(part.length).raw(part);
  }

  bytes(value: Buffer): this {
    return this.int32(value.length).raw(value);
  }

  array<T>(items: readonly T[], write: (item: T) => unknown): this {
    this.int32(items.length);
    for (const item of items) write(item);
    return this;
  }

  raw(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
