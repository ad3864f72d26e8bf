/** What people are told about a refused command, on pages and on the command line. */
import type { CommandRefusal } from '../domain/refusal.ts'
import { type Words, wordsFor } from './problem.ts'

/** `field` is the form field to mark. */
type CommandProblem = { readonly status: number; readonly field: string | null; readonly text: string }

type CommandKind = CommandRefusal['kind']
type CommandOf<K extends CommandKind> = Extract<CommandRefusal, { readonly kind: K }>

export const commandProblemOf = (refusal: CommandRefusal): CommandProblem =>
  refusal.kind === 'invalid_field'
    ? { status: 422, field: refusal.field, text: refusal.rule }
    : commandProblem(refusal.kind, refusal)

type TableKind = Exclude<CommandKind, 'invalid_field'>

const commandProblem = <K extends TableKind>(kind: K, refusal: CommandOf<K>): CommandProblem => {
  const { status, field = null, text } = commandProblems[kind]
  return { status, field, text: wordsFor(refusal, text) }
}

const commandProblems: {
  readonly [K in TableKind]: {
    readonly status: number
    readonly field?: string
    readonly text: Words<CommandOf<K>>
  }
} = {
  cellar_exists: {
    status: 409,
    field: 'cellar',
    text: 'A cellar with this identifier already exists. Open that cellar, or choose another identifier.',
  },
  cellar_not_found: { status: 404, text: 'There is no cellar with this identifier. Check the spelling.' },
  key_exists: {
    status: 409,
    field: 'form',
    text: 'You already sent this form, and it created a key. That key is in the list; it was shown only once. To create one more key, send the form again.',
  },
  key_not_found: { status: 404, text: 'There is no key with this id. Check the spelling.' },
  key_is_revoked: { status: 409, text: 'The key is revoked, which cannot be undone. Create a new key instead.' },
  key_is_expired: { status: 409, text: 'The key has expired. Set a later expiry first.' },
  key_is_superseded: {
    status: 409,
    text: ({ successorId }) => `The key was already rotated. Rotate the new key ${successorId} instead.`,
  },
  too_many_keys: {
    status: 409,
    text: ({ keysMax }) => `A cellar has at most ${keysMax} keys, including revoked keys. Create another cellar.`,
  },
  too_many_units: {
    status: 409,
    text: ({ unitsMax }) => `A cellar has at most ${unitsMax} units. Remove one first.`,
  },
  attention_line_not_found: {
    status: 404,
    text: () => 'This no longer needs attention, so it cannot be put to rest.',
  },
  too_many_silence_rules: {
    status: 409,
    text: ({ rulesMax }) => `A cellar has at most ${rulesMax} rules for silence. Remove one first.`,
  },
  webhook_not_found: { status: 404, text: 'There is no webhook with this id. Check the spelling.' },
  too_many_webhooks: {
    status: 409,
    text: ({ webhooksMax }) => `There can be at most ${webhooksMax} webhooks. Remove one first.`,
  },
  webhook_exists: {
    status: 409,
    text: ({ webhookId }) => `The webhook ${webhookId} has this address and these kinds already. Nothing was changed.`,
  },
  no_webhook_secret: { status: 409, text: ({ why }) => why },
  expiry_in_past: {
    status: 422,
    field: 'expiresAt',
    text: ({ isNew }) => `The expiry must be in the future.${isNew ? '' : ' To stop the key now, revoke it.'}`,
  },
  operator_exists: {
    status: 409,
    field: 'email',
    text: 'An operator with this e-mail already exists. Sign in as this operator, or choose another e-mail.',
  },
  operator_not_found: { status: 404, text: 'There is no operator with this e-mail. Check the spelling.' },
  operator_is_invited: {
    status: 409,
    text: ({ role }) =>
      `This e-mail is invited as an ${role}, but has not joined yet. To invite it with another role, first withdraw the invitation: cellarbook operator remove. Then create a new link: cellarbook operator link --email you@example.com --role admin`,
  },
  operator_was_removed: {
    status: 409,
    field: 'email',
    text: 'The operator with this e-mail was removed. Ask an admin for a one-time link for this e-mail, or choose another e-mail.',
  },
  last_admin: { status: 409, text: 'This is the only admin. Make another operator an admin first.' },
  link_needs_email: {
    status: 409,
    field: 'email',
    text: 'There are already operators, so the link needs an e-mail: cellarbook operator link --email you@example.com',
  },
  link_keeps_role: {
    status: 409,
    field: 'role',
    text: ({ role }) =>
      `This operator is an ${role}, and a link does not change the role. To change the role: cellarbook operator role`,
  },
  own_password_needed: { status: 422, field: 'own_password', text: 'Enter your own password.' },
  wrong_own_password: { status: 422, field: 'own_password', text: 'This is not your password. Try again.' },
  session_has_ended: { status: 401, text: 'Your session has ended. Nothing was changed. Sign in again.' },
  link_invalid: {
    status: 410,
    text: 'This link was already used, has expired or is mistyped. Ask an admin for a new link.',
  },
  wrong_credentials: { status: 401, text: 'The e-mail or the password is wrong.' },
  busy: { status: 503, text: 'Too many requests are waiting. Nothing was changed. Try again in a moment.' },
  not_confirmed: {
    status: 503,
    text: 'Not confirmed yet: the event log has not said whether the change is saved. Check the current state in a moment. If the change is missing, repeat it.',
  },
  store_unavailable: { status: 503, text: 'The event log is unavailable. Nothing was changed. Try again in a moment.' },
  storage_full: {
    status: 503,
    text: 'The disk of the event log is full. Nothing was changed. Free space, then try again.',
  },
}
