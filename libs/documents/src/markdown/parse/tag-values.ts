import type { PlainValue } from '@bindery/contracts/document';

/** Attributes of one tag, as the data of blocks needs them. */
export class Values {
  private readonly named: ReadonlyMap<string, PlainValue>;
  constructor(named: ReadonlyMap<string, PlainValue>) {
    this.named = named;
  }
  text(name: string): string | undefined {
    const value = this.named.get(name);
    return value === undefined || typeof value === 'object' ? undefined : String(value);
  }
  flag(name: string): boolean | undefined {
    const value = this.text(name);
    return value === 'true' ? true : value === 'false' ? false : undefined;
  }
  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.text(name);
    return words.find((word) => word === value);
  }
  whole(name: string): number | undefined {
    const value = Number(this.text(name) ?? Number.NaN);
    return Number.isInteger(value) && value > 0 ? value : undefined;
  }
}
