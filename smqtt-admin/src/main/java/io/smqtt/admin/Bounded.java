// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer within {@link BrokerView#MAX_BYTES}. Immutable.
 *
 * @param answer the answer, its lists cut where they are too long
 * @param leftOut how many entries are missing, by the name of their list; empty if the answer is whole
 * @param <T> what was asked for
 */
public record Bounded<T>(T answer, Map<String, Integer> leftOut) {

    /** Copies the map. */
    public Bounded {
        leftOut = Collections.unmodifiableMap(new LinkedHashMap<>(leftOut));
    }
}
