import { limits } from '@bindery/contracts';
import { invalid } from '@bindery/service-kit';
import type { UploadKind } from './events.ts';

/** What files of each kind may be, by the content type that their bytes have. */
const accepted: Readonly<Record<UploadKind, RegExp | undefined>> = {
  customization_font: /^(font\/|application\/(font|x-font|vnd\.ms-opentype|vnd\.ms-fontobject))/,
  import_file:
    /^(text\/(markdown|x-markdown|plain|html)|application\/(zip|xhtml\+xml|octet-stream|vnd\.openxmlformats-officedocument\.wordprocessingml\.document))$/,
  organization_file: undefined,
};

/** @throws Problem invalid when a kind does not take files of a type */
export const checkKind = (kind: UploadKind, contentType: string, field: string): void => {
  if (accepted[kind]?.test(contentType) === false)
    throw invalid('storage.wrong_type', `${field}: a ${kind} cannot be ${contentType}.`);
};

/** @throws Problem invalid */
export const checkSize = (kind: UploadKind, size: number): void => {
  const most = limits.storage.bytes[kind];
  if (size > most) throw invalid('storage.too_large', `body.file.size: a ${kind} has at most ${most} bytes.`);
};
