// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.smqtt.thread.AnyThread;

/** The level of overload of one broker. Each level includes what the lower ones do. Reading it costs one volatile read. */
@AnyThread
@FunctionalInterface
public interface Overload {

    /** The highest level. */
    int HIGHEST = 3;

    /** Without overload. */
    Overload NONE = () -> 0;

    /**
     * Returns the level.
     *
     * @return 0 without overload, up to {@link #HIGHEST}
     */
    int level();

    /**
     * Level 1: connections are accepted a few at a time.
     *
     * @return whether listeners pause after a connection
     */
    default boolean pacesAccepts() {
        return level() >= 1;
    }

    /**
     * Level 2: no further client is let in.
     *
     * @return whether CONNECT is refused
     */
    default boolean refusesConnects() {
        return level() >= 2;
    }

    /**
     * Level 3: clients that publish at QoS 0 are not read. Others have back-pressure by their acknowledgements.
     *
     * @return whether they wait
     */
    default boolean pausesPublishers() {
        return level() >= HIGHEST;
    }
}
