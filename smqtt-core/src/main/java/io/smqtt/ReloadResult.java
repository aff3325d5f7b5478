// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.util.List;

/**
 * The changes that a reload made.
 *
 * @param reloaded what was read anew, by file name
 * @param failed what could not be used, with the reason; the old stays in force
 */
public record ReloadResult(List<String> reloaded, List<String> failed) {

    /** There was nothing to read again. */
    public static final ReloadResult NOTHING = new ReloadResult(List.of(), List.of());

    /** Copies the lists. */
    public ReloadResult {
        reloaded = List.copyOf(reloaded);
        failed = List.copyOf(failed);
    }
}
