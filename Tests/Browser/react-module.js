// React, which a script has loaded, as the module that hooks import.

export const {
  createContext, createElement, useContext, useEffect, useMemo, useReducer, useRef, useState, useSyncExternalStore,
} = React;
