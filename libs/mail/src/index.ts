export { isMailAddress, parseSender, type Sender } from './message.ts';
export * from './port.ts';
export { readSmtpUrl, type SmtpServer } from './smtp-url.ts';
