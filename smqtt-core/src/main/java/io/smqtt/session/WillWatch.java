// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.Will;
import org.jspecify.annotations.Nullable;

/** Is told which wills are in force, so that others can publish them. Called on event loops; must neither block nor throw. */
public interface WillWatch {

    /**
     * A client has connected with a will, in the place of one that it may have had.
     *
     * @param clientId the client identifier
     * @param userName the client's user, or null
     * @param will the will
     * @param expirySeconds the session expiry interval
     */
    void inForce(String clientId, @Nullable String userName, Will will, long expirySeconds);

    /**
     * The will of a client, if it had one, was published or is not to be published.
     *
     * @param clientId the client identifier
     */
    void gone(String clientId);
}
