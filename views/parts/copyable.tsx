/**
 * Text to take away, with a button that copies it. The button is hidden until the script that works it has come; without
 * it the text can be selected as ever.
 */
export const Copyable = (props: {
  readonly id: string
  /** Stands above it. */
  readonly label: string
  readonly text: string
  /** What the button names: `Copy key`. */
  readonly what: string
  /** One line selects whole at a click. */
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
