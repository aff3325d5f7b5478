// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The result of a health check. Immutable.
 *
 * @param up whether all checks have passed
 * @param checks the state by name of the check, in the order of the checks
 */
public record HealthReport(boolean up, Map<String, String> checks) {

    /** Copies the map. */
    public HealthReport {
        checks = Collections.unmodifiableMap(new LinkedHashMap<>(checks));
    }
}
