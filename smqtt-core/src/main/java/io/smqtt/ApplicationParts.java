// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.util.List;

/** Parts for modules that an application has made itself, such as types of sinks and sources. What extensions bring needs none of this. */
public interface ApplicationParts {

    /** No parts. */
    ApplicationParts NONE = new ApplicationParts() {
        @Override
        public <T> List<T> of(Class<T> type) {
            return List.of();
        }
    };

    /**
     * Returns the parts of one type. May block.
     *
     * @param type an interface of a module
     * @param <T> the same
     * @return in the order in which they count; empty if the application has none
     */
    <T> List<T> of(Class<T> type);
}
