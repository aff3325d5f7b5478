// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import java.util.Map;

/**
 * A rule over all objects of a kind, checked before each change that this node makes.
 *
 * @param <T> the type of the values
 */
@FunctionalInterface
public interface ObjectRule<T> {

    /**
     * Checks a change.
     *
     * @param before the values by identifier, those of the configuration file included
     * @param after the same after the change
     * @throws IllegalArgumentException if the change is not allowed; the message says why
     */
    void check(Map<String, T> before, Map<String, T> after);
}
