// What SwiftUI calls the life of an app, so that one line hands it over:
//
//     .onChange(of: scenePhase) { rollcall.setPhase(AppPhase(scenePhase)) }

#if canImport(SwiftUI)
    public import SwiftUI

    extension AppPhase {
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
