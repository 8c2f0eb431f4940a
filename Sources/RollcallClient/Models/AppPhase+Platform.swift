// Converts SwiftUI's scene phase:
//
//     .onChange(of: scenePhase) { rollcall.setPhase(AppPhase(scenePhase)) }

#if canImport(SwiftUI)
    public import SwiftUI

    extension AppPhase {
        /// Converts SwiftUI's phase. A phase that is not known here counts as ``inactive``.
        public init(_ phase: ScenePhase) {
            switch phase {
            case .active: self = .active
            case .inactive: self = .inactive
            case .background: self = .background
            @unknown default: self = .inactive
            }
        }
    }
#endif
