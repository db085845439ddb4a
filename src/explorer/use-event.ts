// Listening to an event of the window, which those of its elements reach, too.

import { useEffect } from 'preact/hooks'

/** @param inputs everything on which the listener depends. */
export function useEvent<Name extends string>(
  name: Name,
  listener: (event: Name extends 'keydown' ? KeyboardEvent : Event) => void,
  inputs: readonly unknown[] = [],
): void {
  useEffect(() => {
    const listen = listener as EventListener
    addEventListener(name, listen)
    return () => removeEventListener(name, listen)
  }, inputs)
}
