import type { BodyOf, gitOperations } from '@bindery/contracts';
import { type GitCredentials, plainPath } from '@bindery/git-sync';
import { invalid, type OperationContext } from '@bindery/service-kit';
import type { GitDirection, GitOperationRequest } from './events.ts';

type ImportBody = BodyOf<(typeof gitOperations)['importGitRepository']>;
type ExportBody = BodyOf<(typeof gitOperations)['exportToGitRepository']>;

/** What a caller asks for, and the credentials that came with it. */
export interface ReadRequest {
  readonly operation: GitOperationRequest;
  readonly credentials?: GitCredentials;
}

/** A branch, by git's rules for names. */
const branch =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them.
  /^refs\/heads\/(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)|\/\.|\/$|\.$))(?![./])[^\u0000-\u0020\u007f~^:?*[\\]+$/;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('git.invalid_url', 'url: the credentials in it are not well-formed.');
  }
};

const readUrl = (
  text: string,
): { readonly url: string; readonly host: string; readonly credentials?: GitCredentials } => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid('git.invalid_url', 'url: only http and https addresses of repositories can be used.');
  if (url.search !== '' || url.hash !== '')
    throw invalid('git.invalid_url', 'url: the address of a repository has no query and no anchor.');
  const credentials = { username: decoded(url.username), password: decoded(url.password) };
  url.username = '';
  url.password = '';
  const plain = { url: url.href.replace(/\/+$/, ''), host: url.hostname };
  return credentials.username === '' && credentials.password === '' ? plain : { ...plain, credentials };
};

/** An address for people; one with credentials would show them. */
const readLink = (name: string, text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw invalid('git.invalid_url', `${name}: is not an http or https address without credentials.`);
  return url.href;
};

/** @throws Problem invalid, naming the field */
export const readRequest = (
  context: OperationContext,
  direction: GitDirection,
  body: ImportBody | ExportBody,
  timeoutMs: number,
): ReadRequest => {
  const { url, host, credentials } = readUrl(body.url);
  if (!branch.test(body.ref) || !body.ref.isWellFormed())
    throw invalid('git.invalid_ref', 'ref: is not a branch, as in refs/heads/main.');
  const directory = plainPath(body.repoProjectDirectory ?? '');
  if (directory === undefined)
    throw invalid('git.invalid_directory', 'repoProjectDirectory: is not a folder inside the repository.');
  const { timestamp, repoTreeURL, repoCommitURL, gitInfo } = body;
  const message = 'commitMessage' in body ? body.commitMessage : undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a commit cannot hold.
  if (message !== undefined && (message.trim() === '' || /\u0000/.test(message)))
    throw invalid('git.invalid_message', 'commitMessage: is empty, or has characters that a commit cannot hold.');
  const name = url.slice(url.lastIndexOf('/') + 1).replace(/\.git$/, '');
  const operation: GitOperationRequest = {
    operationId: context.ids.id(),
    direction,
    url,
    ref: body.ref,
    directory,
    force: body.force === true,
    standalone: body.standalone === true,
    provider: gitInfo?.provider ?? (/gitlab/i.test(host) ? 'gitlab' : 'github'),
    repoName: decodedName(name),
    hasCredentials: credentials !== undefined,
    baseUrl: context.baseUrl,
    startedBy: context.principal.id,
    startedAt: context.now.toISOString(),
    timeoutAt: new Date(context.now.getTime() + timeoutMs).toISOString(),
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(message === undefined ? {} : { commitMessage: message }),
    ...(repoTreeURL === undefined ? {} : { repoTreeURL: readLink('repoTreeURL', repoTreeURL) }),
    ...(repoCommitURL === undefined ? {} : { repoCommitURL: readLink('repoCommitURL', repoCommitURL) }),
  };
  return credentials === undefined ? { operation } : { operation, credentials };
};

const decodedName = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not percent-encoded: it is called so.
    return name;
  }
};
