// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.BrokerBuilder;

/** Has the last word on the broker. All beans of this type are called before each start, in their order. */
@FunctionalInterface
public interface BrokerCustomizer {

    /**
     * Changes what the broker is made of. Called on the thread that starts the application; may block. What it throws
     * ends the start.
     *
     * @param builder has the configuration and all beans already
     */
    void customize(BrokerBuilder builder);
}
