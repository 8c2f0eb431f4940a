// The colours of the views, as numbers, so that their contrast can be tested where SwiftUI is not.

/// A colour for light and for dark appearance, each as `0xRRGGBB` in sRGB.
package struct Palette: Sendable {
    package let light: UInt32
    package let dark: UInt32

    package static let text = Palette(light: 0x5C5C61, dark: 0xAEAEB2)
    package static let bubble = Palette(light: 0xF2F2F7, dark: 0x2C2C2E)
    package static let online = Palette(light: 0x1E8E3E, dark: 0x34C759)
    package static let away = Palette(light: 0xB25E00, dark: 0xFF9F0A)
    package static let offline = Palette(light: 0x7C7C80, dark: 0x8E8E93)
}
