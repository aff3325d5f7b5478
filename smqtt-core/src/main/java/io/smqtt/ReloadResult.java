// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.util.List;

/**
 * The result of a reload.
 *
 * @param reloaded names of files that were read again
 * @param failed problems of files that could not be used; their former content stays in force
 */
public record ReloadResult(List<String> reloaded, List<String> failed) {

    /** The result without any file. */
    public static final ReloadResult NOTHING = new ReloadResult(List.of(), List.of());

    /** Copies the lists. */
    public ReloadResult {
        reloaded = List.copyOf(reloaded);
        failed = List.copyOf(failed);
    }

    /**
     * Puts results together.
     *
     * @param results in order
     * @return one result with the files and problems of all
     */
    public static ReloadResult of(List<ReloadResult> results) {
        return new ReloadResult(
                results.stream().flatMap(each -> each.reloaded().stream()).toList(),
                results.stream().flatMap(each -> each.failed().stream()).toList());
    }
}
