// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The dashboard and its API need a login; the other paths of this sample are open. */
@Configuration(proxyBeanMethods = false)
class Security {

    @Bean
    SecurityFilterChain dashboard(HttpSecurity http) throws Exception {
        return http.securityMatcher("/smqtt/**")
                .authorizeHttpRequests(all -> all.anyRequest().authenticated())
                .httpBasic(Customizer.withDefaults())
                .build();
    }

    /** Only for this sample: passwords do not belong in a program. */
    @Bean
    InMemoryUserDetailsManager users() {
        return new InMemoryUserDetailsManager(
                User.withUsername("alice")
                        .password("{noop}alice-password")
                        .roles("ADMIN")
                        .build(),
                User.withUsername("bob")
                        .password("{noop}bob-password")
                        .roles("STAFF")
                        .build(),
                User.withUsername("eve")
                        .password("{noop}eve-password")
                        .roles("GUEST")
                        .build());
    }
}
