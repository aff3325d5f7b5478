// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.Will;
import org.jspecify.annotations.Nullable;

/** Observes the wills in force, so that other nodes can publish them. Called on event loops; must neither block nor throw. */
public interface WillWatch {

    /**
     * A client has connected with a will, which replaces an earlier one.
     *
     * @param clientId the client identifier
     * @param userName the client's user, or null
     * @param will the will
     * @param expirySeconds the session expiry interval
     */
    void inForce(String clientId, @Nullable String userName, Will will, long expirySeconds);

    /**
     * A client's will, if any, was published or must not be published.
     *
     * @param clientId the client identifier
     */
    void gone(String clientId);
}
