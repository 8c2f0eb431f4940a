// As much of React's types as the declarations of the hooks and the test's app use.

declare module "react" {
  export type ReactNode = object | string | null | undefined;
  export function createElement(type: unknown, props: object | null, ...children: ReactNode[]): ReactNode & object;
}
