SELECT FROM WHERE ((((( 'open string
/* open comment
