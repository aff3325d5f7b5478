// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

/**
 * Applies the objects of a kind on this node. Called on the thread of the objects, one call after the other: must neither block nor throw.
 *
 * @param <T> the type of the value
 */
public interface ObjectWatcher<T> {

    /**
     * An object is there or has changed, by this node, another one, the store or the configuration file.
     *
     * @param object the object
     */
    void changed(LiveObject<T> object);

    /**
     * An object is no more.
     *
     * @param id its identifier
     */
    void removed(String id);
}
