// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import org.jspecify.annotations.Nullable;

/** The values of the placeholders of a {@link Template}. */
@FunctionalInterface
public interface TemplateValues {

    /**
     * Finds a value.
     *
     * @param placeholder a name without <code>${}</code>, such as {@code username} or {@code client_attrs.site}
     * @return null if it is absent, such as the user name of an anonymous client
     */
    @Nullable
    String value(String placeholder);
}
