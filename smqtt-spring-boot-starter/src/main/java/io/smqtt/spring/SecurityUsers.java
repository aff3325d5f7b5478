// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.admin.account.ApplicationUser;
import java.security.Principal;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContext;

/** The users of Spring Security. Loaded only if that is present. */
final class SecurityUsers {

    private static final String LOGIN = "SPRING_SECURITY_CONTEXT";

    private SecurityUsers() {}

    /**
     * Returns the user with its authorities.
     *
     * @param session finds an attribute of the session of the request; fails when the session has ended
     * @return null if it is anonymous or not authenticated
     */
    static @Nullable ApplicationUser of(Principal principal, Function<String, @Nullable Object> session) {
        if (!(principal instanceof Authentication authentication)) {
            return new ApplicationUser(String.valueOf(principal.getName()), Set.of(), () -> true);
        }
        if (!authentication.isAuthenticated() || authentication instanceof AnonymousAuthenticationToken) {
            return null;
        }
        return new ApplicationUser(
                authentication.getName(),
                authentication.getAuthorities().stream()
                        .map(GrantedAuthority::getAuthority)
                        .filter(Objects::nonNull)
                        .collect(Collectors.toSet()),
                isOf(authentication.getName(), session)
                        ? () -> isOf(authentication.getName(), session)
                        : () -> true); // each request brings its login
    }

    /** Whether the session is the login of this user. Servlets and WebFlux keep it in the same attribute. */
    private static boolean isOf(String name, Function<String, @Nullable Object> session) {
        try {
            return session.apply(LOGIN) instanceof SecurityContext context
                    && context.getAuthentication() != null
                    && context.getAuthentication().getName().equals(name);
        } catch (IllegalStateException e) { // the session has ended
            return false;
        }
    }
}
