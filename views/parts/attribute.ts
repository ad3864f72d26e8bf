/**
 * Text that a person typed, for an attribute. kitajs escapes `"` there and leaves `&` alone: `&quot;` typed as a label
 * would come back as `"` from the form that shows it again, and be saved so.
 */
export const attribute = (text: string): string => text.replaceAll('&', '&amp;')
