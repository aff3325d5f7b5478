// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;

/** The JSON Schemas that operators change while the broker runs. Checks of payloads find them by their names. */
@AnyThread
public interface Schemas {

    /**
     * Tests a schema. Takes time for a large one: not for event loops.
     *
     * @param source the JSON Schema
     * @throws IllegalArgumentException if it cannot be used; the message says why
     */
    void test(String source);

    /**
     * Adds or replaces a schema. One that cannot be used takes the place of the former one nevertheless: until the next change no payload is valid by it.
     *
     * @param name its name
     * @param source the JSON Schema
     */
    void put(String name, String source);

    /**
     * Removes a schema. No payload is valid by a schema that is missing.
     *
     * @param name its name
     */
    void remove(String name);
}
