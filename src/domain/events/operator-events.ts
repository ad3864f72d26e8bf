import { type Static, Type } from '@sinclair/typebox'
import { count, event, hash, id, instant, orNull, revision, shown, strict, text } from './declare-event.ts'

const people = ['operator', 'cli'] as const

export const Role = shown(
  Type.Union([Type.Literal('admin'), Type.Literal('auditor')], {
    description: 'What the operator may do: an auditor changes nothing.',
  }),
)
export type Role = Static<typeof Role>

const passwordHash = hash('The hash of the password.')
const sessionHash = hash('SHA-256 of the secret of the session. Its beginning names the session.')
const idleAt = instant('When the session ends if it is not used before.')
const refusedCounts = {
  failed: count('Wrong passwords.'),
  throttled: count('Sign-ins that were refused without comparing the password, because there were too many.'),
}

export const operatorEvents = {
  OperatorLinkIssued: event(
    { in: ['operator', 'operator-setup'], by: [...people, 'system'] },
    'A one-time link was made. Links for the first admin are in the stream `operator-setup`.',
    {
      email: orNull(text('For whom the link is.'), 'for the first admin'),
      role: Role,
      linkHash: hash('SHA-256 of the secret of the link.'),
      expiresAt: instant('Until when the link works.'),
      purpose: orNull(
        Type.Union([Type.Literal('set_up'), Type.Literal('invite'), Type.Literal('reset')], {
          description: 'For the first admin, for a new operator, or to set a new password.',
        }),
        'not known',
      ),
    },
  ),
  OperatorLinkUsed: event(
    { in: ['operator-setup'], by: ['operator'] },
    'A link for the first admin was used, which ends all other such links.',
    {
      linkHash: hash('SHA-256 of the secret of the link.'),
      email: text('The e-mail that the person chose.'),
    },
  ),
  OperatorAdded: event({ in: ['operator'], by: ['operator'] }, 'An account was created, with a one-time link.', {
    email: text('The e-mail of the operator.'),
    role: Role,
    passwordHash,
    linkHash: orNull(hash('SHA-256 of the secret of the link.'), 'not known'),
    linkMadeBy: orNull(text('The e-mail of the person who made the link, or `cli`.'), 'not known'),
  }),
  OperatorPasswordSet: event(
    { in: ['operator'], by: ['operator'] },
    'The operator set a password. This ends every session and forgets all known browsers, because another person can know the old password.',
    {
      passwordHash,
      linkHash: orNull(hash('SHA-256 of the secret of the link.'), 'the operator entered the old password instead'),
      linkMadeBy: orNull(
        text('The e-mail of the person who made the link, or `cli`. Without a link it stays as it was.'),
        'no other person',
      ),
    },
  ),
  OperatorRoleChanged: event({ in: ['operator'], by: people, comparesState: true }, 'The operator got another role.', {
    role: Role,
  }),
  OperatorRemoved: event(
    { in: ['operator'], by: people, comparesState: true },
    'The account ended, with its sessions and its links. Or an invitation was withdrawn.',
    {},
  ),
  OperatorSignedIn: event({ in: ['operator'], by: ['operator'] }, 'A session began.', {
    sessionHash,
    expiresAt: instant('When the session ends at the latest.'),
    idleAt,
    deviceHash: orNull(
      hash('The hash of a secret in the browser, so that a later sign-in recognizes the browser.'),
      'the browser has none',
    ),
    seenRevision: orNull(revision('The revision of the `SignInSeen` event of this sign-in.'), 'there is none'),
  }),
  OperatorSessionRenewed: event({ in: ['operator'], by: ['operator'] }, 'A session was used.', {
    sessionHash,
    idleAt,
  }),
  OperatorSignedOut: event({ in: ['operator'], by: people }, 'A session ended before its time.', { sessionHash }),

  SignInSeen: event(
    { in: ['signins'], by: ['operator'] },
    'Somebody entered the right password. The event has personal data, so it is deleted after a time. It comes before `OperatorSignedIn`, which names its revision.',
    {
      email: text('The e-mail of the operator.'),
      sessionId: id('The beginning of the session’s hash.'),
      address: text('The address of the client.'),
      browser: text('What the browser said it is.'),
    },
  ),
  SignInsRefused: event({ in: ['signins'], by: ['system'] }, 'One node refused sign-ins.', {
    from: instant('When the first of them was refused.'),
    to: instant('When the last of them was refused.'),
    accounts: Type.Array(
      Type.Object(
        {
          email: text('The e-mail of the account.'),
          ...refusedCounts,
          addresses: Type.Array(Type.String(), { description: 'The addresses of the clients.' }),
        },
        strict,
      ),
      { description: 'The counts for each account.' },
    ),
    others: Type.Object(refusedCounts, {
      ...strict,
      description: 'The counts for e-mails without an account, and for accounts that did not fit into `accounts`.',
    }),
  }),
} as const
