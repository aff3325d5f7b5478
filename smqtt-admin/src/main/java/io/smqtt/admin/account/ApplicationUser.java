// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * A user whom the application around the broker has authenticated. Immutable.
 *
 * @param name the name, for the audit
 * @param authorities what the application says that the user may do, such as {@code ROLE_ADMIN}
 * @param isLoggedIn whether the login of the request is still valid, for a stream that outlives the request. Asked once a second on any
 *     thread; must not block
 */
public record ApplicationUser(String name, Set<String> authorities, BooleanSupplier isLoggedIn) {

    /** Copies the set. */
    public ApplicationUser {
        authorities = Set.copyOf(authorities);
    }
}
