// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A record whose components are configuration keys. Each key is declared once: its {@code @param} in the Javadoc of the
 * record is the text of the reference, the component has its name and type, and a {@link Setting} its default and bounds.
 * The build reads the texts from the source. For a record with a method {@code toBuilder} it writes the builder, too.
 *
 * <p>A value is checked when the record is made by its builder or from a file, and when a {@link BrokerConfig} is made of
 * the records. A constructor checks only rules between values.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ConfigBlock {

    /**
     * What the names of the keys begin with in a message, if no file with other names is known.
     *
     * @return such as {@code limits}; empty for the top level
     */
    String value();
}
