export { invitationMail, type MailText, passwordResetMail, verificationMail } from './templates.ts';
