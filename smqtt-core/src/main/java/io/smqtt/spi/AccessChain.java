// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.Map;

/** Combines authenticators in the order of {@code access.chain}. */
@FunctionalInterface
public interface AccessChain {

    /** The name of the authenticator of clients without a user name, which is asked last. */
    String ANONYMOUS = "anonymous";

    /**
     * Combines the built-in authenticators with others. Called once, before the first client connects.
     *
     * @param builtIn the built-in authenticators by the names that they have in the chain, and {@link #ANONYMOUS}
     * @return the authenticator that is asked after those of the application; a client that it does not decide about is refused
     */
    Authenticator combine(Map<String, Authenticator> builtIn);
}
