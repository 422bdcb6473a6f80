import { type GitServer, gitIsHere, startGitServer } from '@bindery/git-sync/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, publish, type TestContent } from '../../testing.ts';
import { gitCalls, startWithGit } from './testing.ts';

const admin = member('admin');
// Without git there is no repository to talk to.
const withGit = gitIsHere ? describe : describe.skip;

withGit(gitIsHere ? 'git sync' : 'SKIPPED: git http-backend is not installed', () => {
  let content: TestContent;
  let server: GitServer;
  let calls: ReturnType<typeof gitCalls>;
  beforeAll(async () => {
    [content, server] = await Promise.all([startWithGit(), startGitServer()]);
    calls = gitCalls(content, server, admin);
  });
  afterAll(async () => {
    await content.stop();
    await server.stop();
  });
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  test('an import makes a revision of pages, groups, links and files, with the commit that it came from', async () => {
    const { importing, exporting, revisionOf, markdownOf } = calls;
    const spaceId = await openSpace(content, admin);
    expect((await content.call('getSpaceGitInfo', admin, { params: { spaceId } })).status).toBe(404);
    await server.create('book', {
      'README.md':
        '---\ndescription: All of it\nicon: book\ncustom: 1\n---\n\n# Home\n\nSee [start](guides/start.md#first) and ![logo](.gitbook/assets/logo.png).\n',
      'SUMMARY.md':
        '# Table of contents\n\n* [Home](README.md)\n\n## Guides\n\n* [Start](guides/start.md "Begin")\n  * [Deep](guides/start/deep.md)\n* [Elsewhere](https://example.org/)\n',
      'guides/start.md': '# Start\n\n## First\n\n[home](../README.md) ![x](picture.png) [gone](nope.md)\n',
      'guides/start/deep.md': '# Deep\n\ntext\n',
      'guides/picture.png': png,
      '.gitbook/assets/logo.png': png,
      'src/code.c': 'int main;',
      'CONTRIBUTING.md': '# Contributing\n\nHow to.\n',
      bad: { link: '../../etc/passwd' },
    });
    const head = server.git('book', ['rev-parse', 'main']).trim();
    expect(await importing(spaceId, 'book', { repoCommitURL: 'https://git.example.org/book/commit/' })).toMatchObject({
      state: 'success',
      direction: 'import',
    });
    const revision = await revisionOf(spaceId);
    expect(revision.git).toEqual({
      oid: head,
      message: 'Change',
      createdByGitBook: false,
      ref: 'refs/heads/main',
      url: `https://git.example.org/book/commit/${head}`,
    });
    const [home, guides, contributing] = revision.pages;
    expect(home).toMatchObject({
      type: 'document',
      title: 'Home',
      description: 'All of it',
      icon: 'book',
      git: { path: 'README.md', oid: server.files('book').get('README.md') },
    });
    expect(guides).toMatchObject({
      type: 'group',
      title: 'Guides',
      pages: [
        { title: 'Start', linkTitle: 'Begin', slug: 'start', pages: [{ title: 'Deep', path: 'guides/start/deep' }] },
        { type: 'link', title: 'Elsewhere', target: { kind: 'url', url: 'https://example.org/' } },
      ],
    });
    expect(contributing).toMatchObject({ title: 'Contributing', hidden: true });
    expect(revision.pages).toHaveLength(3);
    expect(revision.files.map(({ name, git }) => [name, git?.path]).sort()).toEqual([
      ['logo.png', '.gitbook/assets/logo.png'],
      ['picture.png', 'guides/picture.png'],
    ]);
    const text = await markdownOf(spaceId, home?.id ?? '');
    expect(text).toContain('[start](guides/start/README.md#first)');
    expect(text).toContain(`![logo](/files/`);
    const space = (await content.call('getSpaceById', admin, { params: { spaceId } })).body;
    expect(space.gitSync).toMatchObject({ repoName: 'book', url: server.url('book'), operation: { state: 'success' } });
    const plain = await content.call('getCurrentRevision', admin, { params: { spaceId }, query: { metadata: false } });
    expect(plain.body.git).toBeUndefined();

    // Again, with nothing changed: no revision.
    expect(await importing(spaceId, 'book')).toMatchObject({ state: 'success' });
    expect((await revisionOf(spaceId)).id).toBe(revision.id);

    // A rename keeps the page, with a little of it changed; the file that moved keeps its id.
    server.commit('book', {
      'guides/start/deep.md': null,
      'guides/below.md': '# Deep\n\ntext\n\nmore of it\n',
      'guides/picture.png': null,
      'guides/images/picture.png': png,
      'guides/start.md': '# Start\n\n## First\n\n[home](../README.md) ![x](images/picture.png) [gone](nope.md)\n',
      'SUMMARY.md':
        '# Table of contents\n\n* [Home](README.md)\n* [Deep](guides/below.md)\n\n## Guides\n\n* [Start](guides/start.md)\n',
    });
    expect(await importing(spaceId, 'book')).toMatchObject({ state: 'success' });
    const renamed = await revisionOf(spaceId);
    const deep = renamed.pages[1];
    expect(deep).toMatchObject({ title: 'Deep', git: { path: 'guides/below.md' } });
    expect(JSON.stringify(guides)).toContain(`"id":"${deep?.id}"`);
    expect(renamed.pages[2]?.id).toBe(guides?.id);
    expect(renamed.files.map(({ id }) => id).sort()).toEqual(revision.files.map(({ id }) => id).sort());
    // Nothing comes of an export: the repository says all of it.
    const before = server.git('book', ['rev-parse', 'main']);
    expect(await exporting(spaceId, 'book')).toMatchObject({ state: 'success', direction: 'export' });
    expect(server.git('book', ['rev-parse', 'main'])).toBe(before);
  });

  test('what both sides changed is merged; what only the other side changed is not overwritten', async () => {
    const { importing, exporting, revisionOf, markdownOf } = calls;
    const spaceId = await openSpace(content, admin);
    await server.create('both', {
      'README.md': '# Both\n\none\n\ntwo\n\nthree\n',
      'SUMMARY.md': '* [Both](README.md)\n',
      'x.c': 'c',
    });
    await importing(spaceId, 'both');
    const page = (await revisionOf(spaceId)).pages[0]?.id ?? '';
    await publish(content, admin, spaceId, [
      { operation: 'update_page', page, document: { markdown: '# Both\n\none\n\ntwo\n\nthree here\n' } },
      { operation: 'insert_page', title: 'Made here', document: { markdown: '# Made here\n\nbody\n' } },
    ]);
    server.commit('both', { 'README.md': '# Both\n\none there\n\ntwo\n\nthree\n' });
    expect(await exporting(spaceId, 'both')).toMatchObject({
      state: 'failure',
      error: expect.stringContaining('README.md'),
    });
    expect(await importing(spaceId, 'both')).toMatchObject({ state: 'success' });
    expect(await markdownOf(spaceId, page)).toBe('# Both\n\none there\n\ntwo\n\nthree here\n');
    expect((await revisionOf(spaceId)).type).toBe('merge');
    expect(await exporting(spaceId, 'both', { commitMessage: 'Both' })).toMatchObject({ state: 'success' });
    expect(server.git('both', ['show', 'main:README.md'])).toBe('# Both\n\none there\n\ntwo\n\nthree here\n');
    expect(server.git('both', ['show', 'main:made-here.md'])).toBe('# Made here\n\nbody\n');
    expect(server.git('both', ['show', 'main:SUMMARY.md'])).toContain('* [Made here](made-here.md)');
    expect(server.git('both', ['log', '-1', '--format=%s %P'])).toContain('Both ');
    expect((await revisionOf(spaceId)).git).toMatchObject({ createdByGitBook: true, message: 'Both' });
    const { id } = await revisionOf(spaceId);
    await importing(spaceId, 'both');
    expect((await revisionOf(spaceId)).id).toBe(id);
    // The same block on both sides: neither version is lost.
    await publish(content, admin, spaceId, [
      {
        operation: 'update_page',
        page,
        document: { markdown: '# Both\n\none there\n\ntwo of the space\n\nthree here\n' },
      },
    ]);
    server.commit('both', { 'README.md': '# Both\n\none there\n\ntwo of the repository\n\nthree here\n' });
    expect(await importing(spaceId, 'both')).toMatchObject({ state: 'success' });
    const conflicting = await markdownOf(spaceId, page);
    expect(conflicting).toContain('two of the space');
    expect(conflicting).toContain('two of the repository');
    expect(await exporting(spaceId, 'both')).toMatchObject({ state: 'success' });
    expect(server.git('both', ['show', 'main:README.md'])).toBe(conflicting);
    // A page that goes here goes there, and nothing else does.
    await publish(content, admin, spaceId, [{ operation: 'delete_page', page }]);
    expect(await exporting(spaceId, 'both')).toMatchObject({ state: 'success' });
    expect([...server.files('both').keys()]).toEqual(['SUMMARY.md', 'made-here.md', 'x.c']);
  });

  test('a broken file fails the operation by name and leaves what is served', async () => {
    const { importing, revisionOf } = calls;
    const spaceId = await openSpace(content, admin);
    await server.create('broken', {
      'README.md': '# Fine\n',
      'SUMMARY.md': '* [Fine](README.md)\n* [Bad](docs/bad.md)\n',
    });
    await importing(spaceId, 'broken');
    const { id } = await revisionOf(spaceId);
    for (const [files, error] of [
      [{ 'docs/bad.md': Buffer.from([0x23, 0x20, 0xff, 0xfe]) }, 'docs/bad.md: is not UTF-8 text'],
      [{ 'docs/bad.md': 'x\n'.repeat(20_000) }, 'docs/bad.md: has more than'],
      [{ 'docs/bad.md': null, '.gitbook.yaml': 'root: [' }, '.gitbook.yaml: is not valid YAML'],
      [{ '.gitbook.yaml': 'root: ../..\n' }, '.gitbook.yaml: root is not a path'],
      [
        {
          '.gitbook.yaml': null,
          '.gitbook/assets/x.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
        },
        '.gitbook/assets/x.svg: ',
      ],
    ] as const) {
      server.commit('broken', files);
      const outcome = await importing(spaceId, 'broken');
      expect(outcome).toMatchObject({ state: 'failure', error: expect.stringContaining(error) });
      expect((await revisionOf(spaceId)).id).toBe(id);
    }
  });

  test('an empty repository is begun; a missing branch is no import; strange names and many files do no harm', async () => {
    const { importing, exporting, revisionOf } = calls;
    const spaceId = await openSpace(content, admin);
    await server.create('fresh');
    expect(await importing(spaceId, 'fresh')).toMatchObject({
      state: 'failure',
      error: expect.stringContaining('refs/heads/main'),
    });
    await publish(content, admin, spaceId, [
      { operation: 'insert_page', ref: 'a', title: 'First', document: { markdown: '# First\n\n[two](./b.md)\n' } },
      { operation: 'insert_page', ref: 'b', title: 'Two', document: { markdown: '# Two\n' } },
    ]);
    expect(await exporting(spaceId, 'fresh')).toMatchObject({ state: 'success' });
    expect(server.git('fresh', ['show', 'main:README.md'])).toBe('# First\n\n[two](two.md)\n');
    expect(await importing(spaceId, 'fresh', { ref: 'refs/heads/other' })).toMatchObject({ state: 'failure' });
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`many/page-${n}.md`, `# Page ${n}\n`]));
    server.commit('fresh', { ...many, 'Two.md': '# Other\n', 'TWO.MD': '# Third\n', link: { link: '/' } });
    expect(await importing(spaceId, 'fresh')).toMatchObject({ state: 'success' });
    const { pages } = await revisionOf(spaceId);
    expect(pages).toHaveLength(304);
    expect(new Set(pages.map((page) => ('path' in page ? page.path : ''))).size).toBe(304);
  });
});
