/** Hidden until `assets/app.js` shows it, because copying needs JavaScript. */
export const Copyable = (props: {
  readonly id: string
  readonly label: string
  readonly text: string
  /** Like `key` in `Copy key`. */
  readonly what: string
  /** One click selects the whole text. */
  readonly secret?: boolean
}): JSX.Element => (
  <div class={props.secret ? 'copyable secret' : 'copyable'}>
    <span class="copyable-label" safe>
      {props.label}
    </span>
    <pre tabindex="0">
      <code id={props.id} safe>
        {props.text}
      </code>
    </pre>
    <button type="button" class="copy" data-copy={`#${props.id}`} data-copied="Copied" hidden safe>
      {`Copy ${props.what}`}
    </button>
    <span class="visually-hidden" role="status"></span>
  </div>
)
