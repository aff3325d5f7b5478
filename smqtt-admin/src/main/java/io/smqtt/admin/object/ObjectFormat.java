// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import io.smqtt.admin.JsonFields;
import java.util.Map;

/**
 * Reads and writes the objects of a kind. Stored objects are read again after an update of the broker, so a reader accepts all fields that
 * an earlier version has written. Called on the thread of the objects: must not block.
 *
 * @param <T> the type of the value
 */
public interface ObjectFormat<T> {

    /**
     * Reads an object.
     *
     * @param id the identifier
     * @param fields what {@link #write} has returned, or a file that is imported has
     * @return the value
     * @throws IllegalArgumentException if this is no such object; the message says why, and names no secret
     */
    T read(String id, JsonFields fields);

    /**
     * Writes an object.
     *
     * @param value the value
     * @return maps, lists, texts, numbers, booleans and null
     */
    Map<String, Object> write(T value);
}
