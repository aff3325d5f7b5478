// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Payloads to objects and back. A bean of the application takes the place of JSON by Jackson. Any thread, several at a time.
 */
public interface PayloadConverter {

    /**
     * Makes an object of a payload.
     *
     * @param payload the bytes
     * @param type what a listener method takes
     * @return the object, or null if that is what the payload says
     * @throws RuntimeException if the payload is not of that type: the message counts as failed
     */
    @Nullable
    Object read(byte[] payload, Type type);

    /**
     * Makes a payload of an object.
     *
     * @param value what is published
     * @return the bytes
     * @throws RuntimeException if that cannot be done
     */
    byte[] write(Object value);
}
