import { createContract, operations } from '@bindery/contracts';
import { isMailAddress } from '@bindery/mail';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const { body: check } = createContract(operations).checks(operations.inviteUsersToOrganization);
const mayBeInvited = (email: string): boolean => check({ emails: [email] }) === undefined;

describe('addresses of invitations', () => {
  test('have at most 64 characters before the @, as mail has', () => {
    expect(mayBeInvited(`${'a'.repeat(64)}@example.com`)).toBe(true);
    expect(mayBeInvited(`${'a'.repeat(65)}@example.com`)).toBe(false);
  });

  test('are addresses that mail can be sent to', () => {
    const odd = fc.tuple(
      fc.string({ unit: fc.constantFrom('a', '.', '+', '"', '<', ' ', '\n', ',', 'é'), maxLength: 70 }),
      fc.constantFrom('example.com', 'b'.repeat(60), `${'c'.repeat(63)}.com`, 'localhost'),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.emailAddress(),
          odd.map((parts) => parts.join('@')),
        ),
        (email) => {
          if (mayBeInvited(email)) expect(isMailAddress(email)).toBe(true);
        },
      ),
    );
  });
});
