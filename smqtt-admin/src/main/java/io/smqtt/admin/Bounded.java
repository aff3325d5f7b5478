// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer of at most {@link BrokerView#MAX_BYTES}. Immutable.
 *
 * @param answer the answer, with long lists truncated
 * @param leftOut number of missing entries by name of the list; empty if the answer is complete
 * @param <T> type of the answer
 */
public record Bounded<T>(T answer, Map<String, Integer> leftOut) {

    /** Copies the map. */
    public Bounded {
        leftOut = Collections.unmodifiableMap(new LinkedHashMap<>(leftOut));
    }
}
