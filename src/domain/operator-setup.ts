import { linksOpenMax } from '../limits.ts'
import type { Decided, RecordedEvent, TypesIn } from './events.ts'
import { isExpired } from './expiry.ts'
import { makerOf, type OperatorLink } from './operator.ts'
import { assertNever, type CommandRefusal, done, type Outcome, refused } from './refusal.ts'

/**
 * The first use of a link ends all others, because each could make another admin. A link is printed in a terminal, where
 * others can still see it.
 */
export type SetupState = {
  readonly links: readonly OperatorLink[]
  /** The spent link works again for the same e-mail: a node can die before it appends `OperatorAdded`. */
  readonly spent: (OperatorLink & { readonly email: string }) | null
  readonly revision: number | null
}

export const noSetup: SetupState = { links: [], spent: null, revision: null }

export type SetupCommand =
  | ({ readonly type: 'IssueSetupLink' } & Omit<OperatorLink, 'madeBy'>)
  | { readonly type: 'SpendSetupLink'; readonly linkHash: string; readonly email: string }

export type SetupEventType = TypesIn<'operator-setup'>

export type DecidedSetup = Decided<SetupEventType>

/** Returns no events if the link was already used for this e-mail. */
export const decideSetup = (
  setup: SetupState,
  command: SetupCommand,
  now: number,
): Outcome<readonly DecidedSetup[], CommandRefusal> => {
  switch (command.type) {
    case 'IssueSetupLink': {
      const { role, linkHash, expiresAt } = command
      return done([{ type: 'OperatorLinkIssued', data: { email: null, role, linkHash, expiresAt, purpose: 'set_up' } }])
    }
    case 'SpendSetupLink': {
      const { linkHash, email } = command
      const link = setupLink(setup, linkHash, now)
      if (link === null || (link.email !== null && link.email !== email)) return refused({ kind: 'link_invalid' })
      if (link.email !== null) return done([])
      return done([{ type: 'OperatorLinkUsed', data: { linkHash, email } }])
    }
    default:
      return assertNever(command)
  }
}

/** A used link still works for the e-mail that used it. */
export const setupLink = (
  { links, spent }: SetupState,
  linkHash: string,
  now: number,
): (OperatorLink & { readonly email: string | null }) | null => {
  const unspent = links.find((link) => link.linkHash === linkHash)
  const link = unspent === undefined ? spent : { ...unspent, email: null }
  return link !== null && link.linkHash === linkHash && !isExpired(link, now) ? link : null
}

export const evolveSetup = (setup: SetupState, event: RecordedEvent<SetupEventType>): SetupState => {
  const { revision } = event
  switch (event.type) {
    case 'OperatorLinkIssued': {
      const { linkHash, role, expiresAt } = event.data
      const left = setup.links.filter((link) => !isExpired(link, event.recordedAt))
      return {
        ...setup,
        links: [...left, { linkHash, role, expiresAt, madeBy: makerOf(event.metadata.by, null) }].slice(-linksOpenMax),
        revision,
      }
    }
    case 'OperatorLinkUsed': {
      const { linkHash, email } = event.data
      const link = setup.links.find((one) => one.linkHash === linkHash)
      if (link === undefined) {
        throw new Error(`Cannot fold ${event.type} of "${event.stream}": there is no such unspent link`)
      }
      return { links: [], spent: { ...link, email }, revision }
    }
    default:
      return assertNever(event)
  }
}
